"""--sarif FILE: what SARIF 2.1.0 requires is there, and the findings are those that kgen prints."""

import json
import unittest

from sandbox import ADD, Sandbox, violations

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
NUMBER = {"type": "integer"}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "additionalProperties": False,
    "properties": {
        "message": TEXT,
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": r"^[!#-;=?-Z\[\]_a-z~%]+$"}},
                },
                "region": {
                    "type": "object",
                    "required": ["startLine"],
                    "additionalProperties": False,
                    "properties": {"startLine": NUMBER, "startColumn": NUMBER, "endColumn": NUMBER},
                },
            },
        },
    },
}
RULE = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": r"^KG\d{4}$"},
        "name": {"type": "string"},
        "shortDescription": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}},
    },
}
RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "ruleIndex", "level"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": NUMBER,
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
RUN = {
    "type": "object",
    "required": ["tool", "results"],
    "additionalProperties": False,
    "properties": {
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": {"type": "array", "items": RESULT},
        "tool": {
            "type": "object",
            "required": ["driver"],
            "properties": {
                "driver": {
                    "type": "object",
                    "required": ["name"],
                    "additionalProperties": False,
                    "properties": {
                        "name": {"type": "string"},
                        "semanticVersion": {"type": "string"},
                        "rules": {"type": "array", "items": RULE},
                    },
                }
            },
        },
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "items": RUN},
    },
}


class Sarif(Sandbox):
    def results(self, *arguments, code):
        """The results, after a check of the whole form and against the JSON messages."""
        done = self.kgen(*arguments, "--sarif", "said/kgen.sarif", "--message-format", "json", code=code)
        text = (self.folder / "said/kgen.sarif").read_text()
        log = json.loads(text)
        self.assertEqual(violations(SARIF, log), [])
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({r["id"] for r in rules}), len(rules))
        said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        self.assertEqual(len(said), len(run["results"]))
        for message, result in zip(said, run["results"]):
            self.assertEqual(result["ruleId"], message["code"])
            self.assertEqual(rules[result["ruleIndex"]]["id"], message["code"])
            self.assertEqual(result["level"], message["severity"])
            self.assertTrue(result["message"]["text"].startswith(message["message"]))
            self.assertIn(message["help"], result["message"]["text"])
            self.assertEqual(len(result.get("relatedLocations", [])), len(message["labels"]))
        prints = [r["partialFingerprints"]["kgenFinding/v1"] for r in run["results"]]
        self.assertEqual(len(set(prints)), len(prints))
        return run["results"]

    def test_no_messages_are_an_empty_list(self):
        self.write("add.toml", ADD)
        self.assertEqual(self.results("add.toml", "-o", "out", code=0), [])
        self.assertEqual(self.results("lint", "add.toml", "--allow", "KG0506", code=0), [])

    def test_mistakes_of_several_specs(self):
        self.write("sp ecs/a.toml", ADD.replace("x + y", "x + q"))
        self.write("sp ecs/b.toml", ADD.replace('"T[N]"', '"T[N, N]"', 1))
        results = self.results("check", "sp ecs", "-o", "out", code=2)
        places = [r["locations"][0]["physicalLocation"] for r in results]
        self.assertEqual([p["artifactLocation"]["uri"] for p in places], ["sp%20ecs/a.toml", "sp%20ecs/b.toml"])
        self.assertEqual(places[0]["region"], {"startLine": 6, "startColumn": 17, "endColumn": 18})

    def test_columns_count_letters(self):
        self.write("a.toml", ADD.replace("z = x + y;", "/* ä€𝄞 */ z = x + q;"))
        (result,) = self.results("a.toml", code=2)
        self.assertEqual(result["locations"][0]["physicalLocation"]["region"],
                         {"startLine": 6, "startColumn": 27, "endColumn": 28})

    def test_other_places_and_files_as_a_whole(self):
        self.write("a.toml", ADD.replace("inputs.y", "inputs.x2") + 'scalars.x2 = "f32"\n')
        labelled = [r for r in self.results("a.toml", code=2) if "relatedLocations" in r]
        self.assertTrue(labelled)
        (result,) = self.results("gone.toml", code=4)
        self.assertNotIn("region", result["locations"][0]["physicalLocation"])

    def test_findings_and_the_same_one_twice(self):
        self.write("a.toml", ADD.replace("'z", "'int i = 1; i = 2; { int i2 = 3; i2 = 4; } z") + 'inputs.w = "T[N]"\n')
        self.assertEqual({r["ruleId"] for r in self.results("lint", "a.toml", code=1)}, {"KG0501", "KG0506"})

    def test_a_file_that_cannot_be_written(self):
        self.write("add.toml", ADD)
        self.write("file", "")
        self.assertIn("KG0002", self.kgen("add.toml", "-o", "out", "--sarif", "file/x.sarif", code=4).stderr)


unittest.main()
