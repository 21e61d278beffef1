"""A program that is over before a slow server has answered its request for a token."""
import agentops

agentops.init(default_tags=["short"])


@agentops.tool
def hurry():
    print("no time")
    return 1


hurry()
agentops.end_trace(end_state="Success")
