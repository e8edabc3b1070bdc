/** Texts of the question before a live configuration is saved. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    cancel: 'Cancel',
    changes: 'Changes',
    noChanges: 'No field changes.',
    field: 'Field',
    before: 'Before',
    after: 'After',
    secretChanged: 'changed',
  },
  {
    cancel: '取消',
    changes: '变更',
    noChanges: '没有字段变更。',
    field: '字段',
    before: '变更前',
    after: '变更后',
    secretChanged: '已更改',
  },
)
