/**
 * Models that the example lacks: a chat upstream with translated responses, Claude on two clouds.
 */
import { serviceAccountOf } from '../../simulators/google/tokens.ts'

/** The simulated chat model once more, its responses served by translation. */
export function translatingCatalog(simulatorsUrl: string): object {
  const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
  const prices = [
    price('input_token', '0.15'),
    price('cached_input_token', '0.075'),
    price('output_token', '0.60'),
  ]
  const limits = { max_output_tokens: 4096 }
  const onCloud = (id: string, channel: string, upstream_model: string) => {
    return { id, type: 'chat', prices, routes: [{ channel, upstream_model }], limits }
  }
  return {
    channels: [
      {
        id: 'bedrock',
        upstream: 'bedrock',
        settings: {
          base_url: `${simulatorsUrl}/bedrock`,
          region: 'us-east-1',
          access_key_id: 'AKIASIMULATOR',
          secret_access_key: 'sim-bedrock-secret',
        },
      },
      {
        id: 'vertex',
        upstream: 'anthropic-vertex',
        settings: {
          base_url: `${simulatorsUrl}/google`,
          service_account: serviceAccountOf(simulatorsUrl),
        },
      },
      {
        id: 'translating',
        upstream: 'openai-compatible',
        settings: {
          base_url: `${simulatorsUrl}/openai/v1`,
          api_key: 'sim-openai-key',
          responses: 'translate',
        },
      },
    ],
    models: [
      {
        id: 'translated',
        type: 'chat',
        prices,
        routes: [{ channel: 'translating', upstream_model: 'sim-chat' }],
        limits,
      },
      onCloud('claude-bedrock', 'bedrock', 'us.anthropic.sim-claude-v1:0'),
      onCloud('claude-vertex', 'vertex', 'sim-claude@20260101'),
    ],
  }
}
