/** What the unmodified Anthropic package makes of a messages stream: the judge of "accepted". */
import Anthropic from '@anthropic-ai/sdk'

/** Rejects as the package does. Nothing leaves the process: the body is the answer. */
export async function askAnthropic(body: string) {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async () => new Response(body, { headers })
  const client = new Anthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1', maxRetries: 0, fetch })
  const messages = [{ role: 'user' as const, content: 'hi' }]
  return client.messages.stream({ model: 'm', max_tokens: 10, messages }).finalMessage()
}
