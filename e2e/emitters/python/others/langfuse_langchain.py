import os

from weather import PLAYHEAD, run

os.environ |= {"LANGFUSE_HOST": PLAYHEAD, "LANGFUSE_BASE_URL": PLAYHEAD, "LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
from shared.langchain import langchain_agent
from langfuse import get_client
from langfuse.langchain import CallbackHandler

run(langchain_agent({"callbacks": [CallbackHandler()]}), lambda: get_client().flush())
