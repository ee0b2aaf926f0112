// Buttons, and links that look like them. A pending button keeps its size, its text and the focus,
// and ignores clicks: a second click must not buy a second pack.
import { createLink } from '@tanstack/react-router'
import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, MouseEvent, Ref } from 'react'
import { classes } from './classes.ts'

export type Tone = 'main' | 'plain' | 'quiet' | 'danger'

type ButtonStyle = {
  readonly tone?: Tone | undefined
  readonly isSmall?: boolean | undefined
  readonly isWide?: boolean | undefined
  readonly icon?: LucideIcon
}

const shape =
  'inline-flex items-center justify-center gap-2 rounded-part border text-center font-medium ' +
  'wrap-break-word transition-colors select-none aria-disabled:cursor-default'

const tones: Readonly<Record<Tone, string>> = {
  main: 'border-accent bg-accent text-on-accent hover:border-accent-deep hover:bg-accent-deep',
  plain: 'border-edge bg-sheet text-ink hover:border-ink hover:bg-sunk',
  quiet: 'border-transparent text-accent hover:bg-tint',
  danger: 'border-bad bg-bad text-on-bad hover:border-bad-deep hover:bg-bad-deep',
}

export function buttonClasses({
  tone = 'plain',
  isSmall = false,
  isWide = false,
}: ButtonStyle): string {
  return classes(
    shape,
    tones[tone],
    isSmall ? 'min-h-9 px-3 py-1 text-sm' : 'min-h-11 px-5 py-2',
    isWide && 'w-full',
  )
}

export type ButtonProps = ButtonStyle &
  ButtonHTMLAttributes<HTMLButtonElement> & {
    readonly isPending?: boolean
    readonly ref?: Ref<HTMLButtonElement>
  }

export function Button(props: ButtonProps) {
  const { tone, isSmall, isWide, icon: Icon, isPending, className, children, ...rest } = props
  const isInactive = isPending === true || rest.disabled === true
  const { disabled: _disabled, onClick, ...others } = rest
  // Not the attribute `disabled`: it would move the focus to the start of the page.
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    if (!isInactive) return onClick?.(event)
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <button
      type="button"
      {...others}
      onClick={handleClick}
      aria-disabled={isInactive}
      aria-busy={isPending === true}
      className={classes(
        buttonClasses({ tone, isSmall, isWide }),
        rest.disabled === true && 'opacity-55',
        className,
      )}
    >
      {isPending === true ? (
        <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />
      ) : (
        Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0" />
      )}
      {children}
    </button>
  )
}

type AnchorProps = ButtonStyle &
  AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

function Anchor(props: AnchorProps) {
  const { tone, isSmall, isWide, icon: Icon, className, children, ...rest } = props
  const styleClasses = buttonClasses({ tone, isSmall, isWide })
  return (
    <a {...rest} className={classes(styleClasses, className)}>
      {Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0" />}
      {children}
    </a>
  )
}

/** A link of the router that looks like a button: `<ButtonLink to={paths.packs} tone="main">`. */
export const ButtonLink = createLink(Anchor)

/** The same for addresses outside the router, such as a payment page. */
export const ButtonAnchor = Anchor

/** A small square button with an icon only; screen readers announce `label`. */
export function IconButton(props: ButtonProps & { readonly label: string; icon: LucideIcon }) {
  const { label, icon: Icon, className, ...rest } = props
  return (
    <Button
      tone="quiet"
      {...rest}
      aria-label={label}
      title={label}
      className={classes('!min-h-10 !px-2.5', className)}
    >
      <Icon aria-hidden className="size-4.5" />
    </Button>
  )
}
