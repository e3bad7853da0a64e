#include "cli/compile.h"

#include "emit/text/render.h"
#include "plan/plan.h"
#include "rewrite/canonicalize.h"
#include "rewrite/choices.h"
#include "rewrite/coalesce.h"
#include "rewrite/drop_reports.h"
#include "rewrite/folds_of_loops.h"
#include "rewrite/kept_elements.h"
#include "rewrite/low_bits.h"
#include "rewrite/masks.h"
#include "rewrite/open_places.h"
#include "rewrite/optional_outputs.h"
#include "rewrite/share.h"
#include "rewrite/split_axes.h"
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

// Asserts and prints are looked at for mistakes; what is emitted is found out as if they were not there.
void find_facts(Variation &variation, Diagnostics &diags) {
  if (variation.reporting) {
    analyze(*variation.reporting, diags);
    variation.kernel = drop_reports(*variation.reporting);
    must_be_legal(variation.kernel);
  }
  variation.facts = analyze(variation.kernel, diags);
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

bool all_dissolve(const Kernel &kernel, const Facts &facts) {
  for (size_t g = 0; g < kernel.grid.size(); ++g)
    if (!facts.grid[g].dissolvable && !facts.grid[g].accumulates)
      return false;
  return true;
}

// A grid that goes through an axis by single positions is needed by nothing but the names of its steps, which are the
// positions. Said so, it is a loop like any other: the same kernel without its grid, where that is legal.
void dissolve_single_positions(const Spec &spec, const body::Body &body, Variation &variation) {
  const std::vector<GridDim> &grid = variation.kernel.grid;
  const bool has_some = std::any_of(grid.begin(), grid.end(), [](const GridDim &dim) {
    return dim.axis != kNone && dim.block.is_integer(1) && dim.semantics == Semantics::parallel;
  });
  if (!has_some || all_dissolve(variation.kernel, variation.facts))
    return;
  Diagnostics none;
  std::optional<Kernel> kernel = build_kernel(spec, variation.variant, body, none, nullptr, true);
  if (!kernel)
    return;
  Variation renamed;
  renamed.kernel = std::move(*kernel);
  if (variation.reporting)
    renamed.reporting = renamed.kernel;
  find_facts(renamed, none);
  if (!none.has_errors() && all_dissolve(renamed.kernel, renamed.facts))
    variation.lowered = canonicalize(renamed.kernel, renamed.facts);
}

void lower(Variation &variation) {
  Diagnostics none; // what was legal stays legal
  const Kernel shared = compute_under_masks(share_folds(
      split_axes(open_places(low_bits(kept_elements(folds_of_loops(branches_as_choices(variation.lowered))))))));
  variation.lowered = coalesce(guard_optional_outputs(shared));
  must_be_legal(variation.lowered);
  variation.lowered_facts = analyze(variation.lowered, none);
  const std::optional<Kernel> all = with_all_outputs(shared);
  if (!all)
    return;
  variation.all_outputs = coalesce(*all);
  must_be_legal(*variation.all_outputs);
  variation.all_outputs_facts = analyze(*variation.all_outputs, none);
}

const TargetPlans &plan_for(Variation &variation, TargetKind target) {
  return variation.plans[target] = make_plans(variation.lowered, variation.lowered_facts, variation.all_outputs,
                                              variation.all_outputs_facts, target);
}

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
  out.bodies = std::move(*bodies);
  StageText body_text(options, Stage::body, out.text);
  for (size_t v = 0; v < out.variants.size(); ++v)
    body_text.add(out.variants[v], [&] { return print(out.bodies[v]); });
  if (done(Stage::body))
    return out;

  // The same mistake in several variants is one message: Diagnostics drops repetitions.
  StageText ir_text(options, Stage::ir, out.text);
  for (size_t v = 0; v < out.variants.size(); ++v) {
    std::optional<Kernel> kernel = build_kernel(out.spec, out.variants[v], out.bodies[v], diags);
    if (!kernel)
      continue;
    must_be_legal(*kernel);
    Variation variation;
    variation.variant = out.variants[v];
    variation.kernel = std::move(*kernel);
    if (has_reports(variation.kernel))
      variation.reporting = variation.kernel;
    ir_text.add(out.variants[v], [&] { return print(variation.kernel); });
    out.variations.push_back(std::move(variation));
  }
  if (diags.has_errors())
    return std::nullopt;
  if (done(Stage::ir))
    return out;

  StageText facts_text(options, Stage::facts, out.text);
  for (Variation &variation : out.variations) {
    find_facts(variation, diags);
    facts_text.add(variation.variant, [&] { return print(variation.kernel, variation.facts); });
  }
  if (diags.has_errors())
    return std::nullopt;
  if (done(Stage::facts))
    return out;

  StageText rewrite_text(options, Stage::rewrite, out.text);
  for (size_t v = 0; v < out.variations.size(); ++v) {
    Variation &variation = out.variations[v];
    variation.lowered = canonicalize(variation.kernel, variation.facts);
    dissolve_single_positions(out.spec, out.bodies[v], variation);
    lower(variation);
    rewrite_text.add(variation.variant, [&] { return print(variation.lowered); });
  }
  if (done(Stage::rewrite))
    return out;

  StageText plan_text(options, Stage::plan, out.text);
  for (Variation &variation : out.variations)
    for (const auto &[wanted, target] :
         {std::pair{options.emit.openmp, TargetKind::openmp}, std::pair{options.emit.cuda, TargetKind::cuda}})
      if (wanted) {
        const TargetPlans &plans = plan_for(variation, target);
        plan_text.add(variation.variant, [&] { return print(plans); });
      }
  if (done(Stage::plan))
    return out;

  if (!check_templates(options.emit.templates, diags))
    return std::nullopt;
  out.files = emit_files(out.spec, out.variations, options.emit);
  out.helper_headers = helper_headers(options.emit);
  return out;
}

} // namespace kgen
