/** A choice of models by their ids: the account's are suggested, others can be typed. */
import { TagsInput, type TagsInputProps } from '@mantine/core'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'

const SUGGESTED = 200

interface ModelsInputProps extends Pick<TagsInputProps, 'label' | 'description' | 'error'> {
  /** Shown while none is chosen, which means all. */
  readonly placeholder: string
  readonly value: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

export function ModelsInput({ placeholder, value, ...props }: ModelsInputProps) {
  const account = useAccount()
  const { data } = useAdmin('GET /accounts/:account_id/models', {
    params: { account_id: account.id },
    query: { limit: SUGGESTED },
  })
  return (
    <TagsInput
      {...props}
      placeholder={value.length === 0 ? placeholder : ''}
      data={data?.data.map(({ id }) => id) ?? []}
      maxDropdownHeight={200}
      value={[...value]}
    />
  )
}
