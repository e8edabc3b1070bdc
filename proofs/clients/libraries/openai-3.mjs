/** openai 3: a class of methods over axios, `functions` instead of tools, raw streams. */
import { Configuration, OpenAIApi } from 'openai'
import { serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const FUNCTIONS = [{ name: 'weather', parameters: WEATHER_SCHEMA }]

function connect({ url, key }) {
  return new OpenAIApi(new Configuration({ apiKey: key, basePath: `${url}/v1` }))
}

async function ask(scene, request) {
  const { data } = await connect(scene).createChatCompletion({ model: scene.model, ...request })
  return data.choices[0].message
}

/** The package leaves reading of events to its caller. */
async function askStream(scene, request) {
  const body = { model: scene.model, stream: true, ...request }
  const { data } = await connect(scene).createChatCompletion(body, { responseType: 'stream' })
  data.setEncoding('utf8')
  let text = ''
  for await (const piece of data) text += piece
  const message = { role: 'assistant', content: '', function_call: { name: '', arguments: '' } }
  for (const line of text.split('\n').filter((one) => /^data: \{/.test(one))) {
    const delta = JSON.parse(line.slice('data: '.length)).choices[0]?.delta ?? {}
    message.content += delta.content ?? ''
    message.function_call.name += delta.function_call?.name ?? ''
    message.function_call.arguments += delta.function_call?.arguments ?? ''
  }
  return message
}

async function callFunction(scene, send) {
  const question = { role: 'user', content: scene.words }
  const request = { functions: FUNCTIONS, function_call: 'auto' }
  const first = await send(scene, { ...request, messages: [question] })
  const { name, arguments: input } = first.function_call
  const result = { role: 'function', name, content: tellWeather(JSON.parse(input)) }
  return (await send(scene, { ...request, messages: [question, first, result] })).content
}

const question = ({ words }) => ({ messages: [{ role: 'user', content: words }] })

serveScenes({
  'whole answer': async (scene) => (await ask(scene, question(scene))).content,
  stream: async (scene) => (await askStream(scene, question(scene))).content,
  functions: (scene) => callFunction(scene, ask),
  'functions in a stream': (scene) => callFunction(scene, askStream),
  async embedding(scene) {
    const { data } = await connect(scene).createEmbedding({
      model: scene.model,
      input: scene.words,
    })
    return data.data[0].embedding.length
  },
  async 'an error'(scene) {
    // axios says the status alone; the reason is in the body.
    const failed = await ask(scene, question(scene)).catch(({ response }) => response.data)
    throw new Error(failed.error.message)
  },
})
