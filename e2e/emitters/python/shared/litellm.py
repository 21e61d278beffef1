"""The agent on LiteLLM, as people write it by hand."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Callable

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
from weather import MODEL, openai_loop


def litellm_loop() -> Callable[[str, bool], Any]:
    def create(**options: Any) -> Any:
        options["model"] = f"openai/{options['model']}"
        return litellm.completion(api_base=f"{MODEL}/v1", api_key="none", num_retries=0, **options)

    return openai_loop(SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create))))
