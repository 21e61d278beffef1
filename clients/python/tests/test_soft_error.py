import unittest

from playhead.reading.soft_error import soft_error_of


class SoftError(unittest.TestCase):
    def test_a_result_that_says_it_failed_is_a_soft_error(self) -> None:
        for result in (
            {"status": "error", "error_message": "no such city"},
            {"status": "ERROR", "message": "no such city"},
            {"is_error": True, "content": "no such city"},
            {"error": "no such city"},
        ):
            with self.subTest(result=result):
                self.assertEqual(soft_error_of(result), ("ToolError", "no such city"))

    def test_the_status_of_something_else_is_not(self) -> None:
        for result in ({"status": "failed", "order": 7}, {"status": "success"}, {"status": None}):
            with self.subTest(result=result):
                self.assertIsNone(soft_error_of(result))
