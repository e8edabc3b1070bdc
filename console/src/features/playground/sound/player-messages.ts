/** Texts of the player. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const playerMessages = defineMessages(
  { player: 'Player', download: 'Download' },
  { player: '播放器', download: '下载' },
)
