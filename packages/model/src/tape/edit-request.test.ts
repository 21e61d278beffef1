import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/attribute-value.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi } from '../providers/model-api.ts'
import { ollamaChat } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import { RequestEditor } from './edit-request.ts'

const edit = { system: 'Be exact.', prompt: 'Which plan?', model: 'new' }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

type Case = [name: string, api: ModelApi, path: string, body: JsonObject, edited: JsonObject, path?: string]

describe('system prompt, prompt and model of every API', () => {
  test.each<Case>([
    [
      'OpenAI chat',
      openAiChat,
      '/v1/chat/completions',
      {
        model: 'old',
        temperature: 0,
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: [{ type: 'text', text: 'Plan' }, image, { type: 'text', text: '?' }] },
          { role: 'tool', tool_call_id: 'call_1', content: 'pro' },
        ],
      },
      {
        model: 'new',
        temperature: 0,
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'Be exact.' }] },
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: [{ type: 'text', text: 'Which plan?' }, image] },
          { role: 'tool', tool_call_id: 'call_1', content: 'pro' },
        ],
      },
    ],
    [
      'OpenAI chat at Azure, without a system prompt',
      openAiChat,
      '/openai/deployments/old/chat/completions',
      { messages: [{ role: 'user', content: 'Plan?' }] },
      {
        messages: [
          { role: 'system', content: 'Be exact.' },
          { role: 'user', content: 'Which plan?' },
        ],
      },
      '/openai/deployments/new/chat/completions',
    ],
    [
      'OpenAI responses with a text',
      openAiResponses,
      '/v1/responses',
      { model: 'old', instructions: 'Be brief.', input: 'Plan?' },
      { model: 'new', instructions: 'Be exact.', input: 'Which plan?' },
    ],
    [
      'OpenAI responses with items',
      openAiResponses,
      '/v1/responses',
      {
        model: 'old',
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'input_text', text: 'Plan?' }] },
          { type: 'function_call', call_id: 'call_1', name: 'plan', arguments: '{}' },
        ],
      },
      {
        model: 'new',
        input: [
          { role: 'system', content: 'Be exact.' },
          { role: 'user', content: [{ type: 'input_text', text: 'Which plan?' }] },
          { type: 'function_call', call_id: 'call_1', name: 'plan', arguments: '{}' },
        ],
      },
    ],
    [
      'Anthropic',
      anthropicMessages,
      '/v1/messages',
      {
        model: 'old',
        max_tokens: 10,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: 'Plan?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'plan', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'pro' }] },
        ],
      },
      {
        model: 'new',
        max_tokens: 10,
        system: [{ type: 'text', text: 'Be exact.', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: 'Which plan?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'plan', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'pro' }] },
        ],
      },
    ],
    [
      'Claude at Bedrock',
      anthropicMessages,
      '/model/anthropic.claude-sonnet-4-v1%3A0/invoke',
      { anthropic_version: 'bedrock', max_tokens: 10, messages: [{ role: 'user', content: 'Plan?' }] },
      {
        anthropic_version: 'bedrock',
        max_tokens: 10,
        system: 'Be exact.',
        messages: [{ role: 'user', content: 'Which plan?' }],
      },
      '/model/new/invoke',
    ],
    [
      'Gemini',
      geminiGenerate,
      '/v1beta/models/old:streamGenerateContent',
      {
        system_instruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ parts: [{ text: 'Plan?' }] }, { role: 'model', parts: [{ text: 'Hm' }] }],
      },
      {
        systemInstruction: { parts: [{ text: 'Be exact.' }] },
        contents: [{ parts: [{ text: 'Which plan?' }] }, { role: 'model', parts: [{ text: 'Hm' }] }],
      },
      '/v1beta/models/new:streamGenerateContent',
    ],
    [
      'Ollama chat',
      ollamaChat,
      '/api/chat',
      { model: 'old', messages: [{ role: 'user', content: 'Plan?' }] },
      {
        model: 'new',
        messages: [
          { role: 'system', content: 'Be exact.' },
          { role: 'user', content: 'Which plan?' },
        ],
      },
    ],
    [
      'Ollama generate',
      ollamaChat,
      '/api/generate',
      { model: 'old', prompt: 'Plan?' },
      { model: 'new', prompt: 'Which plan?', system: 'Be exact.' },
    ],
  ])('%s', (_name, api, path, body, edited, editedPath = path) => {
    const url = new URL(`https://model.invalid${path}`)
    expect(new RequestEditor(edit).editFirst(api, { url, body })).toEqual({
      url: new URL(`https://model.invalid${editedPath}`),
      body: edited,
    })
  })

  test('plain completions have no system prompt', () => {
    const request = {
      url: new URL('https://model.invalid/v1/completions'),
      body: { model: 'a', prompt: ['Hi'] },
    }
    expect(new RequestEditor(edit).editFirst(openAiCompletions, request)).toBe(
      'This API has no system prompt to replace.',
    )
    expect(new RequestEditor({ prompt: 'Bye' }).editFirst(openAiCompletions, request)).toEqual({
      ...request,
      body: { model: 'a', prompt: ['Bye'] },
    })
  })
})

describe('an edit stays for later calls', () => {
  const url = new URL('https://model.invalid/v1/chat/completions')
  const start = (
    change: typeof edit | { system: string } | { prompt: string },
    ...messages: JsonObject[]
  ) => {
    const editor = new RequestEditor(change)
    editor.editFirst(openAiChat, { url, body: { model: 'old', messages } })
    return (...later: JsonObject[]) =>
      editor.editLater(openAiChat, { url, body: { model: 'old', messages: later } }).body.messages
  }
  const system = (content: string) => ({ role: 'system', content })
  const user = (content: string) => ({ role: 'user', content })

  test('wherever the agent sends the old text again', () => {
    const later = start(edit, system('You answer in one sentence.'), user('Which plan do I have?'))
    expect(
      later(
        system('You answer in one sentence.'),
        user('Which plan do I have?'),
        user('Asked: Which plan do I have?'),
      ),
    ).toEqual([system('Be exact.'), user('Which plan?'), user('Asked: Which plan?')])
  })

  test('a short text is replaced only where it stands alone', () => {
    const later = start({ prompt: 'Bye' }, user('Hi'))
    expect(later(user('Hi'), user('Hi there'))).toEqual([user('Bye'), user('Hi there')])
  })

  test('other prompts stay; a system prompt that was added is added again', () => {
    const replaced = start({ system: 'Be exact.' }, system('Be brief.'))
    expect(replaced(system('Classify.'), user('a'))).toEqual([system('Classify.'), user('a')])
    const added = start({ system: 'Be exact.' }, user('a'))
    expect(added(user('a'))).toEqual([system('Be exact.'), user('a')])
    expect(added(system('Classify.'), user('a'))).toEqual([system('Classify.'), user('a')])
  })

  test('names, ids and arguments of calls stay', () => {
    const later = start({ prompt: 'Bye' }, user('refund'))
    const call = {
      role: 'assistant',
      tool_calls: [{ id: 'refund', function: { name: 'refund', arguments: 'refund' } }],
    }
    expect(later(user('refund'), call)).toEqual([user('Bye'), call])
  })

  test('a call to another model keeps it', () => {
    const editor = new RequestEditor({ model: 'new' })
    const modelOf = (model: string, isFirst = false) => {
      const request = { url, body: { model, messages: [] } }
      const edited = isFirst ? editor.editFirst(openAiChat, request) : editor.editLater(openAiChat, request)
      return typeof edited === 'string' ? edited : edited.body.model
    }
    expect([modelOf('old', true), modelOf('small'), modelOf('old')]).toEqual(['new', 'small', 'new'])
  })
})
