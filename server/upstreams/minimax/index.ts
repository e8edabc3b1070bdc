/** MiniMax's video protocol, which offers 768P and 2K. */
import { defineUpstream } from '../upstream.ts'
import { minimaxSettings } from './settings.ts'
import { minimaxVideo } from './video.ts'

export const minimax = defineUpstream({
  name: 'minimax',
  settings: minimaxSettings,
  secrets: ['api_key'],
  calls: {},
  tasks: { video: minimaxVideo },
})
