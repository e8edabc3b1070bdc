/** openai 4 to 6: chat with its helpers for tools and schemas, the old functions, responses. */
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const Report = z.object({ city: z.string(), sky: z.string() })
const WEATHER = { name: 'weather', parameters: WEATHER_SCHEMA }

const connect = ({ url, key }) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })

const question = ({ model, words }) => ({ model, messages: [{ role: 'user', content: words }] })

/** Helpers are below `beta` before version 5. */
function helpers(scene) {
  const { chat, beta } = connect(scene)
  return chat.completions.runTools ? chat.completions : beta.chat.completions
}

function runTools(scene, options) {
  const call = { ...WEATHER, parse: JSON.parse, function: tellWeather }
  const tools = [{ type: 'function', function: call }]
  return helpers(scene)
    .runTools({ ...question(scene), tools, ...options })
    .finalContent()
}

/** Version 4 has a helper for functions too. */
function callFunction(scene, options) {
  const completions = helpers(scene)
  if (!completions.runFunctions) return callFunctionByHand(scene, options)
  const functions = [{ ...WEATHER, parse: JSON.parse, function: tellWeather }]
  return completions.runFunctions({ ...question(scene), functions, ...options }).finalContent()
}

async function callFunctionByHand(scene, { stream = false } = {}) {
  const request = { ...question(scene), functions: [WEATHER] }
  const send = async (messages) => {
    const body = { ...request, messages }
    if (!stream) return connect(scene).chat.completions.create(body)
    return helpers(scene).stream(body).finalChatCompletion()
  }
  const [{ message }] = (await send(request.messages)).choices
  const { name, arguments: input } = message.function_call
  const result = { role: 'function', name, content: tellWeather(JSON.parse(input)) }
  return (await send([...request.messages, message, result])).choices[0].message.content
}

async function respond(scene, stream) {
  const { responses } = connect(scene)
  const tools = [{ type: 'function', ...WEATHER, strict: true }]
  const input = [{ role: 'user', content: scene.words }]
  const send = async () => {
    const body = { model: scene.model, tools, input }
    if (!stream) return responses.create(body)
    return responses.stream(body).finalResponse()
  }
  const { output } = await send()
  for (const item of output) {
    input.push(item)
    if (item.type !== 'function_call') continue
    const output = tellWeather(JSON.parse(item.arguments))
    input.push({ type: 'function_call_output', call_id: item.call_id, output })
  }
  const final = await send()
  // Before version 6 a streamed response has no `output_text`.
  return final.output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join('')
}

serveScenes({
  async 'whole answer'(scene) {
    const answer = await connect(scene).chat.completions.create(question(scene))
    return answer.choices[0].message.content
  },
  async stream(scene) {
    const body = { ...question(scene), stream: true, stream_options: { include_usage: true } }
    let text = ''
    for await (const chunk of await connect(scene).chat.completions.create(body)) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    return text
  },
  tool: (scene) => runTools(scene),
  'tool in a stream': (scene) => runTools(scene, { stream: true }),
  functions: (scene) => callFunction(scene),
  'functions in a stream': (scene) => callFunction(scene, { stream: true }),
  async picture(scene) {
    const url = `data:image/png;base64,${scene.picture}`
    const content = [
      { type: 'text', text: scene.words },
      { type: 'image_url', image_url: { url } },
    ]
    const messages = [{ role: 'user', content }]
    const answer = await connect(scene).chat.completions.create({ model: scene.model, messages })
    return answer.choices[0].message.content
  },
  async structured(scene) {
    const response_format = zodResponseFormat(Report, 'report')
    const answer = await helpers(scene).parse({ ...question(scene), response_format })
    return answer.choices[0].message.parsed
  },
  responses: (scene) => respond(scene, false),
  'responses in a stream': (scene) => respond(scene, true),
  async embedding({ model, words, ...scene }) {
    const { data } = await connect(scene).embeddings.create({ model, input: words })
    return data[0].embedding.length
  },
  'an error': (scene) => connect(scene).chat.completions.create(question(scene)),
})
