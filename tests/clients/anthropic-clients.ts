/** The messages SDK in its current version and in the last one before 1.0. */
import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0137'
import {
  type Client,
  PICTURE,
  type Place,
  type Question,
  tellWeather,
  WEATHER,
  WEATHER_SCHEMA,
} from './client.ts'

type Request = Anthropic.MessageCreateParamsNonStreaming

const tools = [{ name: WEATHER, input_schema: { ...WEATHER_SCHEMA, required: ['city'] } }]

function message({ words, withImage }: Question): Anthropic.MessageParam {
  if (!withImage) return { role: 'user', content: words }
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PICTURE }
  return {
    role: 'user',
    content: [
      { type: 'text', text: words },
      { type: 'image', source },
    ],
  }
}

function textOf(answer: Anthropic.Message): string {
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

type Send = (place: Place, stream: boolean, request: Request) => Promise<Anthropic.Message>

function messagesClient(name: string, send: Send): Client {
  return {
    name,
    models: ['sim-chat', 'sim-claude'],
    async ask(place, question) {
      const { model, stream } = question
      const request = { model, max_tokens: 500, messages: [message(question)] }
      return textOf(await send(place, stream, request))
    },
    async useTool(place, question) {
      const { model, stream } = question
      const request = { model, max_tokens: 500, tools }
      const asked = message(question)
      const first = await send(place, stream, { ...request, messages: [asked] })
      const results = first.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [
              {
                type: 'tool_result' as const,
                tool_use_id: block.id,
                content: tellWeather(block.input),
              },
            ]
          : [],
      )
      const turns: Anthropic.MessageParam[] = [
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ]
      return textOf(await send(place, stream, { ...request, messages: [asked, ...turns] }))
    },
  }
}

const options = ({ url, key }: Place) => ({ apiKey: key, baseURL: url, maxRetries: 0 })

export const anthropicCurrent = messagesClient('@anthropic-ai/sdk 1', (place, stream, request) => {
  const { messages } = new Anthropic(options(place))
  return stream ? messages.stream(request).finalMessage() : messages.create(request)
})

export const anthropicOlder = messagesClient(
  '@anthropic-ai/sdk 0.137',
  async (place, stream, request) => {
    const { messages } = new OlderAnthropic(options(place))
    // The two versions differ in their types alone: the bytes of this request are the same.
    const older = JSON.parse(JSON.stringify(request))
    const answer = stream ? messages.stream(older).finalMessage() : messages.create(older)
    return JSON.parse(JSON.stringify(await answer))
  },
)
