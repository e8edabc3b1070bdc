/** Texts of a comparison of prices. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    unit: 'Unit',
    change: 'Change',
    same: 'unchanged',
    added: 'new',
    removed: 'removed',
    rest: '{count} more without a change',
  },
  {
    unit: '单位',
    change: '变化',
    same: '不变',
    added: '新增',
    removed: '移除',
    rest: '另有 {count} 项不变',
  },
)
