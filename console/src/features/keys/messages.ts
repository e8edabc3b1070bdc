/** Texts of the API keys. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  { title: 'API keys', description: 'A key is shown once, when it is made.' },
  { title: 'API 密钥', description: '密钥仅在创建时显示一次。' },
)
