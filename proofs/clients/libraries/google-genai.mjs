/** @google/genai: answers, streams, tools with their signatures, pictures, JSON. */
import { GoogleGenAI } from '@google/genai'
import { REPORT_SCHEMA, serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const connect = ({ url, key }) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
const user = (...parts) => ({ role: 'user', parts })

async function ask(scene, stream, contents, config = {}) {
  const { models } = connect(scene)
  const request = { model: scene.model, contents, config }
  if (!stream) {
    const { candidates } = await models.generateContent(request)
    return candidates[0].content.parts ?? []
  }
  const parts = []
  for await (const piece of await models.generateContentStream(request)) {
    parts.push(...(piece.candidates?.[0]?.content?.parts ?? []))
  }
  return parts
}

const textOf = (parts) =>
  parts.flatMap(({ text, thought }) => (text && !thought ? [text] : [])).join('')

const say = async (scene, stream) => textOf(await ask(scene, stream, scene.words))

async function callTool(scene, stream, config = {}) {
  const functionDeclarations = [{ name: 'weather', parametersJsonSchema: WEATHER_SCHEMA }]
  const contents = [user({ text: scene.words })]
  for (;;) {
    const parts = await ask(scene, stream, contents, {
      ...config,
      tools: [{ functionDeclarations }],
    })
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    if (calls.length === 0) return textOf(parts)
    const results = calls.map(({ id, name, args }) => {
      return { functionResponse: { id, name, response: { output: tellWeather(args) } } }
    })
    contents.push({ role: 'model', parts }, user(...results))
  }
}

const THINKING = { thinkingConfig: { includeThoughts: true } }

serveScenes({
  'whole answer': (scene) => say(scene, false),
  stream: (scene) => say(scene, true),
  tool: (scene) => callTool(scene, false),
  'tool in a stream': (scene) => callTool(scene, true),
  'two tools at once': (scene) => callTool(scene, true),
  thinking: (scene) => callTool(scene, true, THINKING),
  'interleaved thinking': (scene) => callTool(scene, true, THINKING),
  async picture(scene) {
    const inlineData = { mimeType: 'image/png', data: scene.picture }
    return textOf(await ask(scene, false, [user({ inlineData }, { text: scene.words })]))
  },
  async structured(scene) {
    const config = { responseMimeType: 'application/json', responseJsonSchema: REPORT_SCHEMA }
    return JSON.parse(textOf(await ask(scene, false, scene.words, config)))
  },
  async 'embedding in its own format'(scene) {
    const { embeddings } = await connect(scene).models.embedContent({
      model: scene.model,
      contents: [scene.words, scene.words],
    })
    return embeddings.length === 2 ? embeddings[0].values.length : 0
  },
  'an error': (scene) => say(scene, false),
})
