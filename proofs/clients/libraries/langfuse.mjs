/** Langfuse around openai: every call leaves a trace with the tokens that the gateway stated. */
import { observeOpenAI } from '@langfuse/openai'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'
import { serveScenes } from './serve-scenes.mjs'

const exporter = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()

const connect = ({ url, key }) =>
  observeOpenAI(new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }))

const question = ({ model, words }) => ({ model, messages: [{ role: 'user', content: words }] })

/** Throws unless the last trace names tokens of both kinds. */
function requireTokens() {
  const { attributes } = exporter.getFinishedSpans().at(-1)
  const usage = JSON.parse(attributes['langfuse.observation.usage_details'] ?? '{}')
  const counts = [usage.input ?? usage.prompt_tokens, usage.output ?? usage.completion_tokens]
  if (!counts.every((count) => count > 0)) throw new Error(`traced ${JSON.stringify(attributes)}`)
}

serveScenes({
  async 'whole answer'(scene) {
    const answer = await connect(scene).chat.completions.create(question(scene))
    requireTokens()
    return answer.choices[0].message.content
  },
  async stream(scene) {
    const body = { ...question(scene), stream: true, stream_options: { include_usage: true } }
    let text = ''
    for await (const chunk of await connect(scene).chat.completions.create(body)) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    requireTokens()
    return text
  },
  async structured(scene) {
    const answer = await connect(scene).chat.completions.create(question(scene))
    requireTokens()
    return JSON.parse(answer.choices[0].message.content)
  },
  'an error': (scene) => connect(scene).chat.completions.create(question(scene)),
})
