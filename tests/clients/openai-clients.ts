/** The openai package, by chat completions and by responses. */
import OpenAI from 'openai'
import {
  type Client,
  PICTURE_URL,
  type Place,
  type Question,
  tellWeather,
  WEATHER,
  WEATHER_SCHEMA,
} from './client.ts'

type ChatRequest = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming
type ResponseRequest = OpenAI.Responses.ResponseCreateParamsNonStreaming

const connect = ({ url, key }: Place) =>
  new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })

const chatTools: OpenAI.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: WEATHER, parameters: { ...WEATHER_SCHEMA } } },
]

const responseTools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: WEATHER, parameters: { ...WEATHER_SCHEMA }, strict: true },
]

function chatQuestion({ words, withImage }: Question): OpenAI.Chat.ChatCompletionUserMessageParam {
  if (!withImage) return { role: 'user', content: words }
  const image = { type: 'image_url' as const, image_url: { url: PICTURE_URL } }
  return { role: 'user', content: [{ type: 'text', text: words }, image] }
}

async function sendChat(place: Place, stream: boolean, request: ChatRequest) {
  const { completions } = connect(place).chat
  const answer = stream
    ? await completions.stream({ ...request, stream: true }).finalChatCompletion()
    : await completions.create(request)
  const message = answer.choices[0]?.message
  if (!message) throw new Error('no message in the answer')
  return message
}

export const openaiChat: Client = {
  name: 'openai, chat',
  models: ['sim-chat', 'sim-claude'],
  async ask(place, question) {
    const { model, stream } = question
    const message = await sendChat(place, stream, { model, messages: [chatQuestion(question)] })
    return message.content ?? ''
  },
  async useTool(place, question) {
    const { model, stream } = question
    const asked = chatQuestion(question)
    const request = { model, tools: chatTools }
    const first = await sendChat(place, stream, { ...request, messages: [asked] })
    const results = (first.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [
            {
              role: 'tool' as const,
              tool_call_id: call.id,
              content: tellWeather(JSON.parse(call.function.arguments)),
            },
          ]
        : [],
    )
    const messages = [asked, first, ...results]
    return (await sendChat(place, stream, { ...request, messages })).content ?? ''
  },
}

function responseQuestion({ words, withImage }: Question): OpenAI.Responses.ResponseInputItem {
  const text = { type: 'input_text' as const, text: words }
  const image = { type: 'input_image' as const, image_url: PICTURE_URL, detail: 'auto' as const }
  return { role: 'user', content: withImage ? [text, image] : [text] }
}

async function sendResponse(place: Place, stream: boolean, request: ResponseRequest) {
  const { responses } = connect(place)
  if (!stream) return await responses.create(request)
  const events = responses.stream({ ...request, stream: true })
  const final = await events.finalResponse()
  if (final.status !== 'completed') throw new Error(`the response is ${final.status}`)
  return final
}

type Item = OpenAI.Responses.ResponseOutputItem

function isFunctionCall(item: Item): item is OpenAI.Responses.ResponseFunctionToolCall {
  return item.type === 'function_call'
}

export const openaiResponses: Client = {
  name: 'openai, responses',
  models: ['sim-chat', 'translated'],
  async ask(place, question) {
    const { model, stream } = question
    const request = { model, input: [responseQuestion(question)] }
    return (await sendResponse(place, stream, request)).output_text
  },
  async useTool(place, question) {
    const { model, stream } = question
    const asked = responseQuestion(question)
    const request = { model, tools: responseTools }
    const first = await sendResponse(place, stream, { ...request, input: [asked] })
    const calls: OpenAI.Responses.ResponseFunctionToolCall[] = first.output.flatMap((item) =>
      isFunctionCall(item) ? [item] : [],
    )
    const results = calls.map((call) => ({
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: tellWeather(JSON.parse(call.arguments)),
    }))
    const input = [asked, ...calls, ...results]
    return (await sendResponse(place, stream, { ...request, input })).output_text
  },
}
