/** The AI SDK with its providers for each of the three dialects. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  tool,
} from 'ai'
import {
  type Client,
  PICTURE,
  type Place,
  type Question,
  tellWeather,
  WEATHER,
  WEATHER_SCHEMA,
} from './client.ts'

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: jsonSchema<{ city: string }>({ ...WEATHER_SCHEMA, required: ['city'] }),
  execute: async (input) => tellWeather(input),
})

function question({ words, withImage }: Question): ModelMessage {
  const text = { type: 'text' as const, text: words }
  const image = { type: 'file' as const, data: PICTURE, mediaType: 'image/png' }
  return { role: 'user', content: withImage ? [text, image] : [text] }
}

async function run(model: LanguageModel, asked: Question, withTool: boolean): Promise<string> {
  const request = {
    model,
    messages: [question(asked)],
    maxRetries: 0,
    stopWhen: isStepCount(3),
    ...(withTool ? { tools: { [WEATHER]: weather } } : {}),
  }
  if (!asked.stream) return (await generateText(request)).text
  const result = streamText({ ...request, onError: () => undefined })
  let text = ''
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'start-step') text = ''
    if (part.type === 'text-delta') text += part.text
  }
  return text
}

type Connect = (place: Place, model: string) => LanguageModel

function aiClient(name: string, models: readonly string[], connect: Connect): Client {
  return {
    name,
    models,
    ask: (place, asked) => run(connect(place, asked.model), asked, false),
    useTool: (place, asked) => run(connect(place, asked.model), asked, true),
  }
}

const options = ({ url, key }: Place) => ({ baseURL: `${url}/v1`, apiKey: key })

export const AI_SDK_CLIENTS: readonly Client[] = [
  aiClient('ai, openai responses', ['sim-chat', 'translated'], (place, model) =>
    createOpenAI(options(place))(model),
  ),
  aiClient('ai, openai chat', ['sim-chat', 'sim-claude'], (place, model) =>
    createOpenAI(options(place)).chat(model),
  ),
  aiClient('ai, anthropic', ['sim-chat', 'sim-claude'], (place, model) =>
    createAnthropic(options(place))(model),
  ),
  aiClient('ai, openai-compatible', ['sim-chat', 'sim-claude'], (place, model) =>
    createOpenAICompatible({ ...options(place), name: 'gateway' })(model),
  ),
]
