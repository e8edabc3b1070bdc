/** MiniMax's video protocols. */
import { sharesStored } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { minimaxSettings } from './settings.ts'
import { minimaxVideo } from './video.ts'

export const minimax = defineUpstream({
  name: 'minimax',
  settings: minimaxSettings,
  secrets: ['api_key'],
  sharesStored,
  calls: {},
  tasks: { video: minimaxVideo },
})
