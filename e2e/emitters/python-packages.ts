export const openai = 'openai==3.49.0'
export const anthropic = 'anthropic==2.8.0'
/** Needed, but not declared, by some. */
export const httpx = 'httpx==0.28.1'
export const langchain = ['langchain==1.4.7', 'langchain-openai==1.7.3']
export const llamaIndex = ['llama-index-core==0.14.25', 'llama-index-llms-openai-like==0.8.1']
export const genai = 'google-genai==3.1.0'
export const agents = 'openai-agents==0.24.0'
export const crewai = 'crewai==1.15.30'
export const agno = 'agno==3.1.10'
export const traceloop = 'traceloop-sdk==0.62.4'
