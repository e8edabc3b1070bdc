/** LangChain.js with its packages for each of the three dialects. */
import { ChatAnthropic } from '@langchain/anthropic'
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import {
  type Client,
  PICTURE_URL,
  type Place,
  type Question,
  tellWeather,
  WEATHER,
  WEATHER_SCHEMA,
} from './client.ts'

/** What both packages' models have in common, as far as these tests go. */
interface Model {
  invoke(messages: BaseMessage[]): Promise<AIMessageChunk>
  stream(messages: BaseMessage[]): Promise<AsyncIterable<AIMessageChunk>>
}

type Connect = (place: Place, model: string, withTool: boolean) => Model

const parameters = { ...WEATHER_SCHEMA, required: ['city'] }
const weather = {
  type: 'function' as const,
  function: { name: WEATHER, description: 'Tells the weather.', parameters },
}

function question({ words, withImage }: Question): BaseMessage {
  const text = { type: 'text', text: words }
  const image = { type: 'image_url', image_url: { url: PICTURE_URL } }
  return new HumanMessage({ content: withImage ? [text, image] : [text] })
}

async function send(model: Model, stream: boolean, messages: BaseMessage[]) {
  if (!stream) return await model.invoke(messages)
  let whole: AIMessageChunk | undefined
  for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk
  if (!whole) throw new Error('the stream was empty')
  return whole
}

function langchainClient(name: string, models: readonly string[], connect: Connect): Client {
  return {
    name,
    models,
    async ask(place, asked) {
      const model = connect(place, asked.model, false)
      return (await send(model, asked.stream, [question(asked)])).text
    },
    async useTool(place, asked) {
      const model = connect(place, asked.model, true)
      const first = await send(model, asked.stream, [question(asked)])
      const results = (first.tool_calls ?? []).map(
        (call) => new ToolMessage({ tool_call_id: call.id ?? '', content: tellWeather(call.args) }),
      )
      return (await send(model, asked.stream, [question(asked), first, ...results])).text
    },
  }
}

function openaiModel(useResponsesApi: boolean): Connect {
  return ({ url, key }, model, withTool) => {
    const configuration = { baseURL: `${url}/v1` }
    const chat = new ChatOpenAI({
      model,
      apiKey: key,
      configuration,
      maxRetries: 0,
      useResponsesApi,
    })
    return withTool ? chat.bindTools([weather]) : chat
  }
}

const anthropicModel: Connect = ({ url, key }, model, withTool) => {
  const chat = new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: url,
    maxRetries: 0,
    maxTokens: 500,
  })
  return withTool ? chat.bindTools([{ name: WEATHER, input_schema: parameters }]) : chat
}

export const LANGCHAIN_CLIENTS: readonly Client[] = [
  langchainClient('langchain, openai chat', ['sim-chat', 'sim-claude'], openaiModel(false)),
  {
    ...langchainClient(
      'langchain, openai responses',
      ['sim-chat', 'translated'],
      openaiModel(true),
    ),
    hidesBrokenStreams: true,
  },
  langchainClient('langchain, anthropic', ['sim-chat', 'sim-claude'], anthropicModel),
]
