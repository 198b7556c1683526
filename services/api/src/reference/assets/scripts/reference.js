import { showAddress } from './address.js';
import { enableFilter } from './filter.js';
import { enableScrolling, showCurrentPage } from './scrolling.js';
import { enableTryIt } from './try-it.js';

// The pages can be read without this script. It adds a filter to the navigation, forms that call the API, and its address.
enableFilter(document);
enableScrolling(document);
showCurrentPage(document);
enableTryIt(document);
showAddress(document, location.origin);
