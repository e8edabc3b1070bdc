/** Builds a response object for use where the vendor's own is not known. */
import type { JsonObject } from '../../../base/lib/json.ts'

export interface UnknownResponse {
  readonly id: string
  readonly model: string
  readonly state: 'queued' | 'in_progress' | 'failed'
  readonly message: string | null
  readonly createdAt: Date
}

/** Includes the members that SDKs read unconditionally. */
export function encodeUnknownResponse(response: UnknownResponse): JsonObject {
  const { id, model, state, message, createdAt } = response
  return {
    id,
    object: 'response',
    created_at: Math.floor(createdAt.getTime() / 1000),
    status: state,
    background: true,
    error: state === 'failed' ? { code: 'server_error', message } : null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
  }
}
