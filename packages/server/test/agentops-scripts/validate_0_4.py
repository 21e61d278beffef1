"""AgentOps' own check that a trace arrived. Its address is fixed: here it leads to the server under test."""
import os
import sys

import aiohttp
import requests

HOME = "https://api.agentops.ai"
real_get, real_post = requests.get, aiohttp.ClientSession.post
requests.get = lambda url, **options: real_get(url.replace(HOME, os.environ["SERVER"]), **options)
aiohttp.ClientSession.post = lambda self, url, **options: real_post(
    self, url.replace(HOME, os.environ["SERVER"]), **options
)

import agentops

result = agentops.validate_trace_spans(trace_id=sys.argv[1], min_spans=7, max_retries=1)
agentops.print_validation_summary(result)
