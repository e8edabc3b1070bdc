/** A choice of one of the gateway's models. */
import { Autocomplete } from '@mantine/core'
import { useAdmin } from '../../lib/use-admin.ts'

interface ModelSelectProps {
  readonly label: string
  readonly error: string | undefined
  readonly value: string
  readonly onChange: (model: string) => void
}

export function ModelSelect({ label, error, value, onChange }: ModelSelectProps) {
  const { data } = useAdmin('GET /operator/models', { query: {} })
  return (
    <Autocomplete
      label={label}
      size="xs"
      w={190}
      limit={100}
      data={(data?.data ?? []).filter(({ free }) => !free).map(({ id }) => id)}
      error={error}
      value={value}
      onChange={(model) => onChange(model.trim())}
    />
  )
}
