/** Texts of a model's first call. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    tryIt: 'Try {model} in the playground',
    noAccount: 'A call needs an account that pays for it.',
    otherCurrency: '{account} cannot call {model}: it pays in another currency.',
    newAccount: 'New account in {currency}',
  },
  {
    tryIt: '在体验中心试用 {model}',
    noAccount: '调用需要一个付费的账户。',
    otherCurrency: '{account} 无法调用 {model}：它以其他币种付款。',
    newAccount: '新建 {currency} 账户',
  },
)
