/** What the unmodified openai package makes of a chat stream: the judge of what "accepted" means. */
import OpenAI from 'openai'

export interface Answer {
  readonly text: string
  readonly calls: readonly { id: string; name: string; arguments: string }[]
  readonly reason: string | undefined
}

/** Rejects as the package does. Nothing leaves the process: the body is the answer. */
export async function askOpenai(body: string): Promise<Answer> {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async () => new Response(body, { headers })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1', maxRetries: 0, fetch })
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const stream = client.chat.completions.stream({ model: 'm', messages })
  const completion = await stream.finalChatCompletion()
  const choice = completion.choices[0]
  const calls = (choice?.message.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.type === 'function' ? call.function.name : '',
    arguments: call.type === 'function' ? call.function.arguments : '',
  }))
  return { text: choice?.message.content ?? '', calls, reason: choice?.finish_reason }
}
