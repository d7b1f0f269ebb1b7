"""Reads the data that lies beside it: questions, a template, a locale."""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load(language):
    path = HERE / "locale" / f"{language}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else load("en")


def main(language="en"):
    words = load(language)
    score = 0
    answers = sys.stdin.read().split()
    lines = (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    for answer, line in zip(answers, lines):
        question, expected = line.split("=")
        right = answer == expected.strip()
        score += right
        print(f"{question.strip():12} {answer:8} {words['right'] if right else words['wrong'].format(expected=expected.strip())}")
    print(words["score"].format(score=score, total=len(lines)))


for language in sys.argv[1:]:
    print(f"[{language}]", load(language)["score"].format(score=0, total=0))
main(sys.argv[1])
