"""Runs its own unit tests and reports what they found."""
import io
import unittest

import test_stack

suite = unittest.defaultTestLoader.loadTestsFromModule(test_stack)
count = suite.countTestCases()
stream = io.StringIO()
result = unittest.TextTestRunner(stream=stream, verbosity=0).run(suite)
print(count, "tests")
for kind in ("failures", "errors", "skipped", "expectedFailures"):
    print(kind, sorted(test.id().split(".")[-1] for test, _ in getattr(result, kind)))
print("success:", result.wasSuccessful())
raise SystemExit(0 if result.wasSuccessful() else 1)
