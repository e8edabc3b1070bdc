/** Words the source of a charge's quantities. */
import { defineMessages, useMessages } from '../../lib/i18n.tsx'

const messages = defineMessages(
  {
    usage: 'Usage stated by the upstream',
    estimate: 'Estimated: the upstream stated no usage',
    partial: 'Output delivered before the upstream broke off',
    params: 'Taken from the request and its result',
    checkpoint: 'Counted before the gateway process died',
    none: 'Nothing is owed',
  },
  {
    usage: '上游返回的用量',
    estimate: '上游未返回用量：估算',
    partial: '中断前已交付的部分',
    params: '根据请求与结果',
    checkpoint: '网关进程终止前的计量',
    none: '无需付费',
  },
)

function isKnown(basis: string): basis is keyof (typeof messages)['en'] {
  return Object.hasOwn(messages.en, basis)
}

export function BasisText({ basis }: { readonly basis: string }) {
  const t = useMessages(messages)
  return isKnown(basis) ? t(basis) : basis
}
