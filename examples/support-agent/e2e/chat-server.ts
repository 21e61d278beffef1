import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import * as playhead from 'playhead'
import { answerAsSupport } from '../src/model-script.ts'
import { runSupportAgent } from '../src/run-support-agent.ts'
import { useScriptedModel } from '../src/use-scripted-model.ts'

playhead.init({ serviceName: 'support-chat' })
if (!process.env.OPENAI_API_KEY) await useScriptedModel(answerAsSupport)

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Support</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
  li { margin: .5rem 0 } form { display: flex; gap: .5rem } input { flex: 1; padding: .5rem; font: inherit }
</style>
<h1>Support</h1>
<ol aria-label="Conversation" aria-live="polite"></ol>
<form><input aria-label="Your message" required><button>Send</button></form>
<script>
  const say = (who, what) => {
    const line = document.createElement('li')
    line.className = who
    line.textContent = what
    document.querySelector('ol').append(line)
  }
  document.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const input = document.querySelector('input')
    const message = input.value
    input.value = ''
    say('customer', message)
    const response = await fetch('/chat', { method: 'POST', body: message })
    say('agent', response.ok ? await response.text() : 'Something went wrong. A colleague will write to you.')
  })
</script>`

const server = createServer(async (request, response) => {
  if (request.url !== '/chat' || request.method !== 'POST') {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
    return
  }
  try {
    response.end(await runSupportAgent(await text(request)))
  } catch {
    response.writeHead(500).end()
  }
})
server.listen(Number(process.env.CHAT_PORT ?? 4173), '127.0.0.1')
