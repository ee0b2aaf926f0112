// A menu behind a button. It is not modal: the page stays usable and scrollable. It stays beside
// its button in the document, so that screen readers know where it belongs.
import { Check, type LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

const itemClasses =
  'flex min-h-10 w-full items-center gap-3 rounded-part px-3 py-1.5 text-start outline-none ' +
  'select-none data-[highlighted]:bg-tint data-[highlighted]:text-accent-deep'

export function Menu(props: { readonly trigger: ReactNode; readonly children: ReactNode }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{props.trigger}</Radix.Trigger>
      <Radix.Content
        align="end"
        sideOffset={6}
        collisionPadding={8}
        className="appear z-50 max-w-[94vw] min-w-56 rounded-box border border-line bg-sheet p-1.5
          shadow-lg"
      >
        {props.children}
      </Radix.Content>
    </Radix.Root>
  )
}

export function MenuItem(props: {
  readonly icon?: LucideIcon
  /** It leads to the section that is open. */
  readonly isCurrent?: boolean
  readonly onSelect: () => void
  readonly children: ReactNode
}) {
  const { icon: Icon, isCurrent = false, onSelect, children } = props
  return (
    <Radix.Item
      onSelect={onSelect}
      aria-current={isCurrent ? 'page' : undefined}
      className={classes(itemClasses, isCurrent && 'font-medium text-accent-deep')}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0 text-soft" />}
      {children}
    </Radix.Item>
  )
}

/** `lang`: the language of the label, if it differs from that of the page. */
type Option = { readonly value: string; readonly label: string; readonly lang?: string }

/** A group of options; the current one has a tick. */
export function MenuChoice(props: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly Option[]
}) {
  return (
    <Radix.RadioGroup aria-label={props.label} value={props.value} onValueChange={props.onChange}>
      <Radix.Label className="px-3 pt-1.5 pb-1 text-sm text-soft">{props.label}</Radix.Label>
      {props.options.map((option) => (
        <Radix.RadioItem
          key={option.value}
          value={option.value}
          lang={option.lang}
          className={itemClasses}
        >
          <span className="grid size-4 shrink-0 place-items-center">
            <Radix.ItemIndicator>
              <Check aria-hidden className="size-4 text-accent" />
            </Radix.ItemIndicator>
          </span>
          {option.label}
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  )
}

export function MenuLine() {
  return <Radix.Separator className="my-1.5 h-px bg-line" />
}
