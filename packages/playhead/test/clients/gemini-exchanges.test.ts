import { expect, test } from 'vitest'
import { play, useRecorder } from './play-exchange.ts'

useRecorder()

test('Gemini: a JSON list instead of events, media, code execution and a blocked prompt', () => {
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent'
  const { answer, content, step } = play({
    url,
    request: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'See' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' } },
          ],
        },
      ],
      generationConfig: { responseMimeType: 'application/json' },
    },
    response: JSON.stringify([
      {
        candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] } }],
        modelVersion: 'gemini-2.5-flash',
        responseId: 'g1',
      },
      { candidates: [{ content: { parts: [{ executableCode: { language: 'PYTHON', code: '1' } }] } }] },
      { candidates: [{ content: { parts: [{ text: '{"a":' }] } }] },
      {
        candidates: [{ content: { parts: [{ text: '1}' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 30,
          toolUsePromptTokenCount: 5,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
          promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 20 }],
        },
      },
    ]),
  })
  expect(content.messages![0]!.parts.slice(1)).toEqual([
    { type: 'media', modality: 'image', mimeType: 'image/png', base64: 'AAAA' },
    { type: 'media', modality: 'video', mimeType: 'video/mp4', uri: 'gs://b/v.mp4' },
  ])
  expect(answer).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    {
      type: 'tool-call',
      name: 'code_execution',
      arguments: { language: 'PYTHON', code: '1' },
      isServerSide: true,
    },
    { type: 'text', text: '{"a":1}' },
  ])
  expect(step.usage).toMatchObject({ input: 35, output: 10, reasoning: 6, imageInput: 20 })
  const blocked = play({
    url: url.replace('streamG', 'g'),
    request: { contents: 'Hi' },
    response: { promptFeedback: { blockReason: 'SAFETY' } },
  })
  expect(blocked.step.finishReasons).toEqual(['content_filter'])
})
