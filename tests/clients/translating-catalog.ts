/** A model that a chat upstream serves through translated responses, which the example lacks. */

/** The simulated chat model once more, its responses served by translation. */
export function translatingCatalog(simulatorsUrl: string): object {
  const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
  return {
    channels: [
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
        prices: [
          price('input_token', '0.15'),
          price('cached_input_token', '0.075'),
          price('output_token', '0.60'),
        ],
        routes: [{ channel: 'translating', upstream_model: 'sim-chat' }],
        limits: { max_output_tokens: 4096 },
      },
    ],
  }
}
