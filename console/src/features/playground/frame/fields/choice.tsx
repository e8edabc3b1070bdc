/** A choice of a few options, all visible. */
import { Input, SegmentedControl } from '@mantine/core'
import { useId } from 'react'

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly options: readonly {
    readonly value: Value
    readonly label: string
    readonly disabled?: boolean
  }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Choice<const Value extends string>(props: ChoiceProps<Value>) {
  const { label, options, value, onChange } = props
  const id = useId()
  return (
    <div>
      <Input.Label labelElement="div" id={id} mb={4}>
        {label}
      </Input.Label>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-labelledby={id}
        data={[...options]}
        value={value}
        onChange={onChange}
      />
    </div>
  )
}
