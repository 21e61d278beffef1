"""Watches the HTTP clients of the program, now and when they are imported."""

from __future__ import annotations

from types import ModuleType

from ..import_hooks import when_imported
from ..runtime import active_runtime
from .aiohttp_hook import watch_aiohttp
from .httpx_hook import watch_httpx
from .urllib3_hook import watch_urllib3
from .urllib_hook import watch_urllib

# Their calls go through C code.
_UNSEEN = {
    "google.generativeai": "google.generativeai calls Gemini over gRPC, which Playhead can't see. "
    'Use google-genai, configure(transport="rest"), or record the calls as LLMEvent.',
    "vertexai.generative_models": "vertexai calls Gemini over gRPC, which Playhead can't see. "
    'Use google-genai, init(api_transport="rest"), or record the calls as LLMEvent.',
    "pycurl": "Playhead can't see requests of pycurl. If they call a model, record them as LLMEvent.",
}


def install_capture() -> None:
    """Runs once; each call checks for itself whether it is to be recorded."""
    # Newer SDKs use httpx2.
    for name in ("httpx", "httpx2"):
        when_imported(name, watch_httpx)
    when_imported("urllib3.connectionpool", watch_urllib3)
    when_imported("urllib.request", watch_urllib)
    when_imported("aiohttp", watch_aiohttp)
    for name in _UNSEEN:
        when_imported(name, _say_unseen)


def _say_unseen(module: ModuleType) -> None:
    runtime = active_runtime()
    if runtime is not None and runtime.settings.is_llm_captured:
        runtime.reporter.once(f"capture {module.__name__}", _UNSEEN[module.__name__])
