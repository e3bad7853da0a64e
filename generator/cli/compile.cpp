#include "cli/compile.h"

#include "plan/plan.h"
#include "rewrite/canonicalize.h"
#include "rewrite/coalesce.h"
#include "rewrite/share.h"
#include "spec/sketch.h"
#include "support/check.h"

namespace kgen {

namespace {

struct StageRow {
  Stage stage;
  std::string_view name;
};
constexpr StageRow kStages[] = {{Stage::spec, "spec"},   {Stage::body, "body"},       {Stage::ir, "ir"},
                                {Stage::facts, "facts"}, {Stage::rewrite, "rewrite"}, {Stage::plan, "plan"},
                                {Stage::emit, "emit"}};

// A kernel that breaks the rules of its own form is a fault of kgen.
void must_be_legal(const Kernel &kernel) {
  std::string fault = verify(kernel);
  if (!fault.empty())
    internal_error("generator/ir/verify.cpp", 0, fault.c_str());
}

// The text of one stage, variant after variant.
class StageText {
public:
  StageText(const CompileOptions &options, Stage stage, std::string &out)
      : active_(options.print && options.last == stage), out_(out) {}
  template <class Print> void add(const Variant &variant, Print print) {
    if (!active_)
      return;
    if (!variant.suffix.empty())
      out_ += (out_.empty() ? "== " : "\n== ") + variant.suffix + "\n";
    out_ += print();
  }

private:
  bool active_;
  std::string &out_;
};

} // namespace

std::optional<Stage> find_stage(std::string_view name) {
  for (const StageRow &row : kStages)
    if (row.name == name)
      return row.stage;
  return std::nullopt;
}

std::optional<Compiled> compile(const std::string &path, const std::string &text, const CompileOptions &options,
                                Diagnostics &diags) {
  Compiled out;
  auto done = [&](Stage stage) { return options.last == stage; };

  Sketch sketch;
  std::optional<Spec> spec = load_spec(path, text, options.load, diags, sketch);
  if (!spec) {
    if (!done(Stage::spec))
      body::check_body(sketch, diags);
    return std::nullopt;
  }
  out.spec = std::move(*spec);
  out.variants = variants_of(out.spec);
  if (done(Stage::spec)) {
    out.text = options.print ? print(out.spec) : "";
    return out;
  }

  std::optional<std::vector<body::Body>> bodies = body::parse_body(out.spec, out.variants, diags);
  if (!bodies)
    return std::nullopt;
  StageText body_text(options, Stage::body, out.text);
  for (size_t v = 0; v < out.variants.size(); ++v)
    body_text.add(out.variants[v], [&] { return print((*bodies)[v]); });
  if (done(Stage::body))
    return out;

  // The same mistake in several variants is one message: Diagnostics drops repetitions.
  StageText ir_text(options, Stage::ir, out.text);
  for (size_t v = 0; v < out.variants.size(); ++v) {
    std::optional<Kernel> kernel = build_kernel(out.spec, out.variants[v], (*bodies)[v], diags);
    if (!kernel)
      continue;
    must_be_legal(*kernel);
    Variation variation;
    variation.variant = out.variants[v];
    variation.kernel = std::move(*kernel);
    ir_text.add(out.variants[v], [&] { return print(variation.kernel); });
    out.variations.push_back(std::move(variation));
  }
  if (diags.has_errors())
    return std::nullopt;
  if (done(Stage::ir))
    return out;

  StageText facts_text(options, Stage::facts, out.text);
  for (Variation &variation : out.variations) {
    variation.facts = analyze(variation.kernel, diags);
    facts_text.add(variation.variant, [&] { return print(variation.kernel, variation.facts); });
  }
  if (diags.has_errors())
    return std::nullopt;
  if (done(Stage::facts))
    return out;

  StageText rewrite_text(options, Stage::rewrite, out.text);
  for (Variation &variation : out.variations) {
    variation.lowered = coalesce(share_folds(canonicalize(variation.kernel, variation.facts)));
    must_be_legal(variation.lowered);
    Diagnostics none; // what was legal stays legal
    variation.lowered_facts = analyze(variation.lowered, none);
    rewrite_text.add(variation.variant, [&] { return print(variation.lowered); });
  }
  if (done(Stage::rewrite))
    return out;

  StageText plan_text(options, Stage::plan, out.text);
  if (done(Stage::plan)) {
    for (Variation &variation : out.variations)
      for (const auto &[wanted, target] :
           {std::pair{options.emit.openmp, TargetKind::openmp}, std::pair{options.emit.cuda, TargetKind::cuda}})
        if (wanted)
          plan_text.add(variation.variant,
                        [&] { return print(make_plan(variation.lowered, variation.lowered_facts, target)); });
    return out;
  }

  out.files = emit_files(out.spec, out.variations, options.emit);
  return out;
}

} // namespace kgen
