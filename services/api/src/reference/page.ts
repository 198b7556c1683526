import type { Html } from './html.ts';

/** A page of the reference. */
export interface Page {
  /** `/docs/areas` */
  readonly path: string;
  readonly title: string;
  /** One sentence, for search engines and previews. */
  readonly description: string;
  readonly main: Html;
}

/** A group of links in the navigation. */
export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

export interface NavigationLink {
  readonly href: string;
  readonly label: string;
  /** The method of an operation, in front of its label. */
  readonly method?: string;
  /** What the filter finds it by, beside its label. */
  readonly words?: string;
}
