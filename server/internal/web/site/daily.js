// The page of the daily game, which is the page of its challenge.
import { open } from './challenge.js';

/** @param {HTMLElement} root @param {{id?: string}} data the variant, empty for the default */
export default (root, { id }) =>
  open(root, { daily: { variant: id, date: new URLSearchParams(location.search).get('date') } });
