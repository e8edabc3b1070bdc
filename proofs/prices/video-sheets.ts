/** Videos that the vendor bills by tokens, or by seconds, resolution and sound. */
import type { Sheet } from './sheet.ts'

const BY_RESOLUTION = [
  { rates: { second: ['0.1', 1] } },
  { resolution: '1080p', rates: { second: ['0.2', 1] } },
] satisfies Sheet['cards']

export const VIDEOS: readonly Sheet[] = [
  {
    id: 'pp-video',
    type: 'video',
    channel: 'pp-ark',
    upstreamModel: 'doubao-seedance-1-5-pro-251215',
    cards: [
      { rates: { output_token: ['16', 1_000_000] } },
      { tier: 'flex', rates: { output_token: ['8', 1_000_000] } },
    ],
  },
  {
    id: 'pp-video-search',
    type: 'video',
    channel: 'pp-ark',
    upstreamModel: 'doubao-seedance-2-0-260128',
    cards: [{ rates: { output_token: ['46', 1_000_000] } }],
    fees: { web_search_call: ['4', 1_000] },
  },
  {
    id: 'pp-minimax',
    type: 'video',
    channel: 'pp-minimax',
    upstreamModel: 'MiniMax-H3',
    cards: [
      { rates: { second: ['0.08', 1] } },
      { resolution: '2K', rates: { second: ['0.13', 1] } },
    ],
  },
  {
    id: 'pp-wan',
    type: 'video',
    channel: 'pp-dashscope',
    upstreamModel: 'wan3.0-video',
    cards: BY_RESOLUTION,
  },
  ...['fal', 'replicate', 'openrouter'].map(
    (vendor): Sheet => ({
      id: `pp-film-${vendor}`,
      type: 'video',
      channel: `pp-${vendor}`,
      upstreamModel: 'owner/films',
      cards: BY_RESOLUTION,
      // Held by the second, charged what the vendor states.
      ...(vendor === 'openrouter' ? { fees: { vendor_cost: ['1', 1_000_000_000] } } : {}),
    }),
  ),
  {
    id: 'pp-kling',
    type: 'video',
    channel: 'pp-kling',
    upstreamModel: 'kling-3.0',
    cards: [
      { rates: { second: ['0.084', 1] } },
      { sound: 'on', rates: { second: ['0.126', 1] } },
      { resolution: '1080p', rates: { second: ['0.112', 1] } },
      { resolution: '1080p', sound: 'on', rates: { second: ['0.168', 1] } },
    ],
  },
]
