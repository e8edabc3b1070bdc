/** Texts of the rows of prices. */
import { defineMessages } from '../../../lib/i18n.tsx'
import { words } from '../../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    unit: 'Unit',
    per: 'Per',
    when: 'Only when',
    whenValues: 'Is (any of, with commas)',
    whenMin: 'From',
    whenBelow: 'Below',
    addCondition: 'Only when …',
  },
  {
    ...words.zh,
    unit: '单位',
    per: '每',
    when: '条件',
    whenValues: '取值（可用逗号分隔多个）',
    whenMin: '不低于',
    whenBelow: '低于',
    addCondition: '添加条件',
  },
)
