#!/usr/bin/env python3
"""Tests of the templates in .github: GitHub shows a form only if it has the keys that it knows."""

import re
import unittest

import script
import yaml

GITHUB = script.SCRIPTS.parent / ".github"
FORMS = [file for file in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if file.name != "config.yml"]
# Types of elements, with the attributes that each must have, by GitHub's description of forms.
ATTRIBUTES = {"markdown": {"value"}, "textarea": {"label"}, "input": {"label"}, "dropdown": {"label", "options"},
              "checkboxes": {"label", "options"}}


class Templates(unittest.TestCase):
    """The forms of issues, and the text of a change."""

    def test_forms(self) -> None:
        self.assertGreaterEqual(len(FORMS), 3)
        for file in FORMS:
            form = yaml.safe_load(file.read_text())
            self.assertEqual(set(form), {"name", "description", "labels", "body"}, file.name)
            self.assertTrue(3 < len(form["name"]) < 80 and len(form["description"]) <= 200, file.name)
            for element in form["body"]:
                self.assertLessEqual(ATTRIBUTES[element["type"]], set(element["attributes"]), file.name)
            names = [element["id"] for element in form["body"] if "id" in element]
            self.assertEqual(len(names), len(set(names)), file.name)
            self.assertTrue(all(re.fullmatch(r"[\w-]+", name) for name in names), file.name)
            labels = [element["attributes"].get("label") for element in form["body"] if element["type"] != "markdown"]
            self.assertEqual(len(labels), len(set(labels)), file.name)

    def test_scripts_that_templates_name_are_there(self) -> None:
        named = re.findall(r"scripts/[\w-]+", (GITHUB / "pull_request_template.md").read_text())
        self.assertTrue(named)
        for name in named:
            self.assertTrue((script.SCRIPTS.parent / name).is_file(), name)


if __name__ == "__main__":
    unittest.main(buffer=True)
