"""The agent on Google's client, as people write it by hand."""

from __future__ import annotations

from typing import Any, Callable

from google import genai
from google.genai import types
from weather import GEMINI, MODEL, PARAMETERS, SYSTEM, call_tool


def genai_loop() -> Callable[[str, bool], Any]:
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=MODEL))
    declaration = types.FunctionDeclaration(name="get_weather", parameters_json_schema=PARAMETERS)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[declaration])]
    )

    def answer(contents: list[Any], stream: bool) -> list[Any]:
        options = {"model": GEMINI, "contents": contents, "config": config}
        if not stream:
            return client.models.generate_content(**options).candidates[0].content.parts
        chunks = client.models.generate_content_stream(**options)
        return [part for chunk in chunks for part in chunk.candidates[0].content.parts]

    def ask(question: str, stream: bool) -> str:
        contents = [types.Content(role="user", parts=[types.Part(text=question)])]
        while True:
            parts = answer(contents, stream)
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return "".join(part.text or "" for part in parts)
            contents.append(types.Content(role="model", parts=parts))
            results = [
                types.Part.from_function_response(name=call.name, response={"result": call_tool(call.name, call.args)})
                for call in calls
            ]
            contents.append(types.Content(role="user", parts=results))

    return ask
