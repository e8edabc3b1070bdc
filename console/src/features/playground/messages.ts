/** Texts of the playground's page. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    noCalls: 'Your role in this account is read-only: owners and developers can make calls.',
    title: 'Playground',
    description:
      'Real calls, paid from this account’s balance, with a console key that expires after ' +
      'an hour.',
    kinds: 'Choose a type',
    compare: 'Compare',
    noModelTitle: 'No model of this type yet',
    noModelText: 'Once an operator adds one, it can be tried here.',
    toOperatorModels: 'Add a model',
    toModels: 'See all models',
  },
  {
    ...words.zh,
    noCalls: '您在此账户中的角色为只读：所有者与开发者可以调用。',
    title: '体验中心',
    description: '真实调用，从此账户余额扣费，使用控制台自己的密钥（一小时后失效）。',
    kinds: '选择类型',
    compare: '对比',
    noModelTitle: '还没有此类模型',
    noModelText: '运营人员添加后，即可在此体验。',
    toOperatorModels: '添加模型',
    toModels: '查看全部模型',
  },
)
