/** Texts of everybody's access tokens. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'Access tokens',
    email: 'Acts as',
    token: 'Token',
    sensitive: 'sensitive',
    active: 'Active',
    expires: 'Expires',
    revokeTitle: 'Revoke “{name}” of {email}?',
    revokeText: 'The token stops working everywhere at once. Scripts that use it will fail.',
    emptyTitle: 'No script uses the admin API yet',
    emptyText: 'Users create access tokens for their own scripts in the settings.',
  },
  {
    ...words.zh,
    title: '访问令牌',
    email: '代表',
    token: '令牌',
    sensitive: '敏感操作',
    active: '有效',
    expires: '到期',
    revokeTitle: '吊销 {email} 的“{name}”？',
    revokeText: '令牌会立即在所有地方失效，使用它的脚本将无法工作。',
    emptyTitle: '尚无脚本使用管理 API',
    emptyText: '用户可在设置中为自己的脚本创建访问令牌。',
  },
)
