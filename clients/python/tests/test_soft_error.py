import pytest
from playhead.read_steps import soft_error_of


@pytest.mark.parametrize(
    "result",
    [
        {"status": "error", "error_message": "no such city"},
        {"status": "ERROR", "message": "no such city"},
        {"is_error": True, "content": "no such city"},
        {"error": "no such city"},
    ],
)
def test_a_result_that_says_it_failed_is_a_soft_error(result):
    assert soft_error_of(result) == ("ToolError", "no such city")


@pytest.mark.parametrize("result", [{"status": "failed", "order": 7}, {"status": "success"}, {"status": None}])
def test_the_status_of_something_else_is_not(result):
    assert soft_error_of(result) is None
